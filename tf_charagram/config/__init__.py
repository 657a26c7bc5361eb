"""Settings of training runs: frozen dataclasses, checked, the only source of defaults."""

from __future__ import annotations

from tf_charagram.config.distill import DistillConfig
from tf_charagram.config.paraphrase import ParaphraseConfig
from tf_charagram.config.presets import preset_settings
from tf_charagram.config.run import RunConfig
from tf_charagram.config.supervised import SupervisedConfig
from tf_charagram.config.tagging import TaggingConfig

__all__ = [
    "DistillConfig",
    "ParaphraseConfig",
    "RunConfig",
    "SupervisedConfig",
    "TaggingConfig",
    "preset_settings",
]
