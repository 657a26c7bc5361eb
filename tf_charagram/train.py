"""`python -m tf_charagram.train`, the same as `charagram train`."""

import sys

from tf_charagram.cli import main
from tf_charagram.tasks.train import train

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))

# `import tf_charagram.train` gives the package an attribute of this name: the function, as before.
sys.modules[__name__] = train  # type: ignore[assignment]
