"""`python -m conversation_esaa`."""

import sys

from conversation_esaa.cli.main import entry

sys.exit(entry())
