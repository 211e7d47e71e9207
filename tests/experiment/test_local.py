"""Where cells run on this machine."""

from fairseq_xl.experiment import local


def test_gpus_that_the_system_lists(monkeypatch, tmp_path, capsys):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 0\necho 1\n")
    tool.chmod(0o755)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert local.visible_gpus() == ["0", "1"]
    tool.write_text("#!/bin/sh\necho No devices were found\nexit 6\n")
    assert local.visible_gpus() == []
    assert capsys.readouterr().err.endswith("runs on the processors; it says: No devices were found\n")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert local.visible_gpus() == ["1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert local.visible_gpus() == []
