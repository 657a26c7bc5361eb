"""`python -m tf_charagram.export.check`, the same as `charagram check`."""

import sys

from tf_charagram.export.check.command import main

if __name__ == "__main__":
    sys.exit(main())
