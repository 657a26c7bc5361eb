"""`python -m tf_charagram.tuning`, the same as `charagram tune`."""

import sys

from tf_charagram.tuning.command import main

if __name__ == "__main__":
    sys.exit(main())
