"""The frame rate of a glTF file, found from its key times."""

import base64
import contextlib
import json
import struct

import numpy as np
import pytest

from extension import load

gltf_times = load("cli.gltf_times")


def document(times: np.ndarray, stride: int = 4) -> tuple[dict, bytes]:
    """A glTF with one sampler per row of `times`, and its binary part."""
    rows = np.atleast_2d(np.asarray(times, "<f4"))
    count = rows.shape[1]
    binary = b"".join(b"".join(struct.pack("<f", time).ljust(stride, b"\1") for time in row) for row in rows)
    size = count * stride
    views = [{"buffer": 0, "byteOffset": size * n, "byteLength": size} for n in range(len(rows))]
    if stride != 4:
        views = [{**view, "byteStride": stride} for view in views]
    return {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": len(binary)}],
        "bufferViews": views,
        "accessors": [
            {"bufferView": n, "componentType": 5126, "type": "SCALAR", "count": count} for n in range(len(rows))
        ],
        "animations": [{"samplers": [{"input": n, "output": n}]} for n in range(len(rows))],
    }, binary


def glb(document: dict, binary: bytes) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


@pytest.mark.parametrize("rate", [24, 25, 30, 50, 60, 120, 48, 100, 240])
@pytest.mark.parametrize("length", [30, 20_000])
def test_rate_of_keys_on_every_frame(rate, length) -> None:
    times = (np.arange(length) / rate).astype(np.float32).astype(float)
    assert gltf_times.likeliest_rate(times) == rate


def test_a_few_keys_between_frames_do_not_matter() -> None:
    times = np.append(np.arange(100) / 30.0, [1.01, 2.02])
    assert gltf_times.likeliest_rate(times) == 30


@pytest.mark.parametrize("times", [np.empty(0), np.zeros(3), np.array([np.nan]), np.sqrt(np.arange(2.0, 90.0))])
def test_no_rate_to_be_found_gives_the_usual_one(times) -> None:
    assert gltf_times.likeliest_rate(times) == 30


@pytest.mark.parametrize("stride", [4, 12])
def test_times_are_read_from_all_animations(tmp_path, stride) -> None:
    times = np.array([[0.0, 0.5, 1.0], [0.25, 0.75, 2.0]])
    path = tmp_path / "two.glb"
    path.write_bytes(glb(*document(times, stride)))
    assert np.array_equal(gltf_times.key_times(path), times.ravel())


def test_times_in_a_file_beside_it_or_within_the_json(tmp_path) -> None:
    content, binary = document(np.arange(12) / 25.0)
    path = tmp_path / "walk.gltf"
    (tmp_path / "the data.bin").write_bytes(binary)
    for uri in ("the%20data.bin", "data:application/octet-stream;base64," + base64.b64encode(binary).decode()):
        content["buffers"][0]["uri"] = uri
        path.write_text(json.dumps(content))
        assert gltf_times.frame_rate(path) == 25
    content["buffers"][0]["uri"] = "lost.bin"
    path.write_text(json.dumps(content))
    with pytest.raises(load("lookat_pd.errors").FileError, match=r"lost\.bin"):
        gltf_times.frame_rate(path)


def test_file_without_animation(tmp_path) -> None:
    path = tmp_path / "still.glb"
    path.write_bytes(glb({"asset": {"version": "2.0"}}, b""))
    assert not len(gltf_times.key_times(path)) and gltf_times.frame_rate(path) == 30


def test_every_truncation_is_reported(tmp_path) -> None:
    whole = glb(*document(np.arange(6) / 24.0))
    path = tmp_path / "cut.glb"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(load("lookat_pd.errors").FileError):
            gltf_times.key_times(path)


def test_every_damaged_byte_is_reported_or_harmless(tmp_path) -> None:
    whole = glb(*document(np.arange(6) / 24.0))
    path = tmp_path / "damaged.glb"
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with contextlib.suppress(load("lookat_pd.errors").FileError):
            assert gltf_times.frame_rate(path) in gltf_times.RATES
