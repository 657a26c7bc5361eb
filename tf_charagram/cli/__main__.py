"""`python -m tf_charagram.cli`, the same as `charagram`."""

import sys

from tf_charagram.cli import main

if __name__ == "__main__":
    sys.exit(main())
