"""`python -m tf_charagram.export`, the same as `charagram export`."""

import sys

from tf_charagram.export.command import main

if __name__ == "__main__":
    sys.exit(main())
