"""Run one command and say what it cost. Started for every sample, so that it is as small as Python gets:
a process inherits, as its peak memory, what the one had that started it.

    python -I -S launch.py DIRECTORY INPUT-FILE OUTPUT-FILE COMMAND...    prints: exit-code cpu-s wall-s peak-kB
"""

import os
import sys
import time

directory, source, output, *command = sys.argv[1:]
sink = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
os.chdir(directory)
began = time.perf_counter()
child = os.posix_spawn(
    command[0],
    command,
    os.environ,
    file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, sink, 1),
        (os.POSIX_SPAWN_DUP2, sink, 2),
    ],
)
_, status, used = os.wait4(child, 0)
wall = time.perf_counter() - began
peak = used.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, wall, peak)
