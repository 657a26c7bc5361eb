"""Searches with several processes: KerasTuner's chief hands out trials, and workers run them.

KerasTuner's environment variables name each process.
"""

from __future__ import annotations

import os
import time

import grpc
from keras_tuner.src.distribute import oracle_client
from keras_tuner.src.distribute.utils import has_chief_oracle, is_chief_oracle

from tf_charagram.errors import ConfigError, RunError
from tf_charagram.tuning._search.search import SearchFolder
from tf_charagram.tuning._search.trials import TrialTuner

#: KerasTuner's variables: name of this process, and the address of the chief.
ID, IP, PORT = "KERASTUNER_TUNER_ID", "KERASTUNER_ORACLE_IP", "KERASTUNER_ORACLE_PORT"
_TICK_S = 0.5
_TIMEOUT_S = 60


def role() -> str:
    """Returns `"chief"`, `"worker"`, or `""` for a search in one process.

    Raises:
        ConfigError: Some of KerasTuner's variables are missing.
    """
    try:
        if is_chief_oracle():
            return "chief"
        return "worker" if has_chief_oracle() else ""
    except RuntimeError as error:
        raise ConfigError(str(error)) from None


def wait_for_chief(folder: SearchFolder) -> None:
    """Waits until the chief has begun the search in a folder.

    Raises:
        RunError: It has not within a minute.
    """
    end = time.monotonic() + _TIMEOUT_S
    while not folder.config.is_file():
        if time.monotonic() > end:
            raise RunError(f"{folder.path} has no search. Start the chief first.")
        time.sleep(_TICK_S)


def run_with_others(tuner: TrialTuner) -> None:
    """Serves the workers, or runs trials of their chief, until all have ended.

    Raises:
        RunError: The chief does not answer or failed, or its address cannot be used.
        CharagramError: An error that does not depend on the values of a trial.
    """
    address = f"{os.environ[IP]}:{os.environ[PORT]}"
    # KerasTuner itself waits for an hour.
    oracle_client.TIMEOUT = _TIMEOUT_S
    try:
        tuner.search()
    except grpc.RpcError as error:
        raise RunError(
            f"The chief at {address} has failed, or does not answer within {_TIMEOUT_S} s. Start "
            f"it first. ({error.details()})"
        ) from error
    except RuntimeError as error:
        if not is_chief_oracle():
            raise
        raise RunError(f"Cannot serve at {address}: {error}. Set another {PORT}.") from error
