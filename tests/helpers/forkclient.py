"""A command that a fork of :mod:`forkserver`'s process carries out: hands over all that makes it this one, and waits.

Started as ``python -ISs forkclient.py SOCKET COMMAND…``; imports next to nothing, so that it costs milliseconds.
"""

import _signal
import _socket
import array
import marshal
import os
import sys

PASSED_ON = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM, _signal.SIGUSR1, _signal.SIGUSR2)


def main(address, command):
    ignored = [int(number) for number in PASSED_ON if _signal.getsignal(number) == _signal.SIG_IGN]
    if _signal.SIGINT not in ignored:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # no traceback of the client's own
    files = [number for number in map(int, os.listdir("/proc/self/fd")) if is_inherited(number)]
    mask = os.umask(0)
    os.umask(mask)
    request = marshal.dumps((command, os.getcwdb(), dict(os.environb), files, ignored, mask))
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(address)
    handed = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", files))]
    server.sendmsg([len(request).to_bytes(8, "little")], handed)
    server.sendall(request)
    for number in files:
        if number != 2:
            os.close(number)  # the work's alone: whoever reads or writes the other end sees what it does
    for number in PASSED_ON:
        if number not in ignored:
            _signal.signal(number, lambda number, _: server.send(bytes([number])))
    status = server.recv(4)
    if len(status) < 4:
        sys.exit("error: the server of forks has ended")
    end = os.waitstatus_to_exitcode(int.from_bytes(status, "little"))
    if end < 0:
        if -end != _signal.SIGKILL:
            _signal.signal(-end, _signal.SIG_DFL)
        os.kill(os.getpid(), -end)
    os._exit(end)


def is_inherited(number):
    try:
        return os.get_inheritable(number)
    except OSError:  # the one that listed them
        return False


main(sys.argv[1], sys.argv[2:])
