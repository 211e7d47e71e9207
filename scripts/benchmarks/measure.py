"""Taking times: in turns, after a warm-up, and long enough for the clock."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import torch

clock = time.perf_counter
"""What takes the time of what runs on a CPU."""
SHORTEST = 0.02
"""Seconds that one measurement takes at least: quicker functions are called several times."""


def seconds(function: Callable[[], object], calls: int, device: str) -> float:
    """Time of one call, the mean of some in a row; on CUDA the time on the device's own clock."""
    if not device.startswith("cuda"):
        start = clock()
        for _ in range(calls):
            function()
        return (clock() - start) / calls
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    for _ in range(calls):
        function()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) / 1000 / calls


def in_turns(functions: Mapping[str, Callable[[], object]], repeats: int, device: str) -> dict[str, list[float]]:
    """Seconds a call of each function, one figure a turn; every turn runs all of them."""
    calls = {}
    for name, function in functions.items():
        function()  # compiles, allocates
        once = seconds(function, 1, device)
        calls[name] = max(1, round(SHORTEST / max(once, 1e-9)))
    return _turns(functions, calls, repeats, device)


def _turns(
    functions: Mapping[str, Callable[[], object]], calls: Mapping[str, int], repeats: int, device: str
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            times[name].append(seconds(function, calls[name], device))
    return times


def ratio(times: Mapping[str, list[float]], name: str, to: str) -> float:
    """Median over turns of one function's time by another's."""
    return statistics.median(a / b for a, b in zip(times[name], times[to], strict=True))


def kernel_seconds(function: Callable[[], object]) -> float:
    """Time that a call's kernels take on a CUDA device, summed, without the gaps between launches."""
    from torch.profiler import ProfilerActivity, profile

    function()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as trace:
        for _ in range(10):
            function()
        torch.cuda.synchronize()
    return sum(event.self_device_time_total for event in trace.key_averages()) / 1e6 / 10
