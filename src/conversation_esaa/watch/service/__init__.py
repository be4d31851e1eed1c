"""Having the system start the watcher at login: what each system reads, as pure text, and how it is told.

`systemd`, `launchd` and `windows` write the text and name the commands; `install` alone touches anything.
"""
