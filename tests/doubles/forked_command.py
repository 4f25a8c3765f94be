"""Starts a forked process for whoever starts programs by command lines: see `fork_server.forked_command`.

An interpreter with nothing imported passes its folder, environment and streams to the server; then it gets the signal
to end for the process, and ends as that does.
"""

import json
import os
import signal
import socket
import sys
from pathlib import Path


def main(address: str, *command: str) -> None:
    reading, writing = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.connect(f"\0{address}")
        asked = json.dumps([command, str(Path.cwd()), dict(os.environ)]).encode()
        socket.send_fds(server, [asked], [0, 1, 2, writing])
    for number in (0, 1, 2, writing):
        os.close(number)
    with os.fdopen(reading) as status:
        pid = int(status.readline())
        signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
        code = int(status.readline())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
