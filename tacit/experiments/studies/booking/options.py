"""What `tacit reproduce booking` takes beside what every study takes, and whether it goes together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tacit.envs.booking import SETTINGS, check_setting
from tacit.experiments.studies.booking.supply import FROM_FILE, Supply, load_supply
from tacit.text.bundled import check_packages, minilm_path, smollm2_file
from tacit.text.causal.presets import check_memory, find_preset

EVERY_SETTING = "all"


@dataclass(frozen=True)
class BookingOptions:
    """The options; None where nothing was given."""

    model: str | None = None
    setting: str | None = None
    data: Path | None = None
    dialogues: Path | None = None
    skip_broken: bool | None = None

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the settings to play."""
        if self.dialogues is not None:
            return (FROM_FILE,)
        return SETTINGS if self.setting == EVERY_SETTING else (self.setting or "hard",)

    def load_supply(self) -> Supply:
        """Return what the dialogues are made of."""
        return load_supply(self.data, self.dialogues, bool(self.skip_broken))


def check_options(options: BookingOptions) -> None:
    """Raise ValueError unless the options go together and the setting exists."""
    if options.dialogues is not None and (options.setting or options.data):
        given = "--setting" if options.setting else "--data"
        raise ValueError(
            f"--dialogues brings dialogues as they are, got {given} too; leave out one of the two"
        )
    if options.skip_broken is not None and options.dialogues is None:
        raise ValueError(
            "--skip-broken is about the lines of a dialogue file, got none; add --dialogues FILE.jsonl"
        )
    if options.setting is not None and options.setting != EVERY_SETTING:
        try:
            check_setting(options.setting)
        except ValueError as error:
            raise ValueError(f"{error}; `all` runs all of them") from None


def check_model(model: str) -> None:
    """Raise ValueError or ImportError, saying what to do, where a model cannot run; nothing is loaded or fetched."""
    check_packages("torch", "transformers", "accelerate", "gguf")
    minilm_path()  # the small model plays beside every other
    smollm2_file()
    if model == "small":
        return
    try:
        preset = find_preset(model)
    except ValueError as error:
        raise ValueError(f"--model is 'small' or a language model; {error}") from None
    check_memory(preset)


def write_arguments(options: BookingOptions) -> str:
    """Return the options as they stand on the command line, without the directories of this machine.

    >>> write_arguments(BookingOptions(setting="all", data=Path("somewhere")))
    ' --setting all --data DIR'
    """
    written = {
        "--model": options.model,
        "--setting": options.setting,
        "--data": "DIR" if options.data is not None else None,
        "--dialogues": options.dialogues.name if options.dialogues is not None else None,
    }
    words = "".join(f" {name} {value}" for name, value in written.items() if value is not None)
    return words + (" --skip-broken" if options.skip_broken else "")
