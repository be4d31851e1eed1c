"""What an agent runs at its own events: python -I -S entry.py AGENT EVENT [--inject]

Whatever happens, it ends with 0 and prints nothing but what was asked for. `call.py` beside it does the work;
it stands there because Python compiles the file that it is started with anew each time, and keeps the compiled
form of all others. Neither imports anything of this package.
"""

import os
import sys

if __name__ == "__main__":
    try:
        from _frozen_importlib_external import SourceFileLoader

        path = os.path.join(os.path.dirname(__file__), "call.py")  # noqa: PTH120 - an agent waits
        scope: dict[str, object] = {"__name__": "call", "__file__": path}
        exec(SourceFileLoader("call", path).get_code("call"), scope)  # type: ignore[arg-type] # noqa: S102
        scope["main"](sys.argv[1:])  # type: ignore[operator]
    except BaseException:  # noqa: BLE001, S110 - nor must it hear of this
        pass
    os._exit(0)  # a thread may still wait for the agent; and there is nothing to tidy up
