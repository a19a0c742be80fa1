"""Turns from recordings: who is loud when, whatever the level, format and background of the sound."""

import wave
from pathlib import Path

import numpy as np
import pytest

from lookat_pd.conversation import loudness, sounds
from lookat_pd.errors import FileError, InvalidArgument

RATE = 8000


def voice(*spoken: tuple[float, float], seconds: float = 10.0, gain: float = 1.0) -> np.ndarray:
    """Syllables of 0.2 s within the times that are spoken, and a background."""
    t = np.arange(int(seconds * RATE)) / RATE
    sound = 1e-3 * np.random.default_rng(1).standard_normal(len(t))
    for start, end in spoken:
        inside = (t >= start) & (t < end)
        sound[inside] += (
            0.3 * np.sin(2 * np.pi * 180 * t[inside]) * (0.3 + 0.7 * np.abs(np.sin(np.pi * t[inside] / 0.2)))
        )
    return gain * sound


@pytest.mark.parametrize("gain", [1.0, 0.01, 100.0])
def test_phrases_are_found_at_any_level(gain) -> None:
    found = loudness.speech(voice((1.0, 3.0), (5.0, 6.5), gain=gain), RATE)
    assert np.allclose(found, [(1.0, 3.0), (5.0, 6.5)], atol=0.05)


def test_gaps_within_a_phrase_and_clicks_are_none() -> None:
    found = loudness.speech(voice((1.0, 2.0), (2.2, 3.0), (6.0, 6.06)), RATE)
    assert np.allclose(found, [(1.0, 3.0)], atol=0.05)


@pytest.mark.parametrize("sound", [np.zeros(80000), np.ones(80000), voice(), np.zeros(0)])
def test_silence_and_noise_are_no_speech(sound) -> None:
    assert loudness.speech(sound, RATE) == []


def test_who_speaks_while_another_does_takes_the_turn_only_by_speaking_on() -> None:
    said = loudness.turns([[(0.0, 4.0), (9.0, 10.0)], [(1.0, 1.4), (3.5, 6.0), (6.5, 8.0)]])
    assert [(phrase.speaker, phrase.start) for phrase in said] == [(0, 0.0), (1, 3.5), (1, 6.5), (0, 9.0)]


@pytest.mark.parametrize("sound", [np.zeros((4, 2)), [np.nan] * 9, "sound"])
def test_what_is_no_sound(sound) -> None:
    with pytest.raises(InvalidArgument):
        loudness.speech(sound, RATE)


def write(path: Path, sound: np.ndarray, width: int = 2, channels: int = 1) -> Path:
    whole = np.round(np.clip(sound, -1, 1) * (2 ** (8 * width - 1) - 1)).astype(np.int64)
    whole += 128 if width == 1 else 0
    rows = whole.astype("<i8").view(np.uint8).reshape(-1, 8)[:, :width]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(RATE)
        file.writeframes(np.repeat(rows, channels, axis=0).tobytes())
    return path


@pytest.mark.parametrize(("width", "channels"), [(1, 1), (2, 2), (3, 1), (4, 2)])
def test_all_widths_and_channels_are_read(tmp_path, width, channels) -> None:
    sound = voice((1.0, 2.0), seconds=3.0)
    samples, rate = sounds.load(write(tmp_path / "voice.wav", sound, width, channels))
    assert rate == RATE and samples.shape == sound.shape
    assert np.abs(samples - sound).max() < 2.0 ** (2 - 8 * width) + 1e-6


@pytest.mark.parametrize("content", [None, b"", b"RIFF", b"hello" * 20])
def test_what_is_no_sound_file(tmp_path, content) -> None:
    path = tmp_path / "voice.wav"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FileError, match=r"voice.wav.*cannot be read as a sound"):
        sounds.load(path)
