"""A picture is PNG and PDF, the same each time."""

PNG = b"\x89PNG\r\n\x1a\n"


def test_pictures_are_the_same_each_time(drawn, tmp_path):
    first = drawn(tmp_path)
    assert first.light.startswith(PNG)
    assert first.dark.startswith(PNG)
    assert (tmp_path / "lines.png").read_bytes() == first.light
    pdf = (tmp_path / "lines.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert drawn(tmp_path) == first
    assert (tmp_path / "lines.pdf").read_bytes() == pdf
