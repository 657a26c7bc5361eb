"""`python -m tf_charagram.embed`, the same as `charagram embed`."""

import sys

from tf_charagram.cli import main

if __name__ == "__main__":
    sys.exit(main(["embed", *sys.argv[1:]]))
