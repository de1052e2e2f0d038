"""The build backend of setuptools, made reproducible: two builds of a commit have the same bytes.

Setuptools alone gives the files of an sdist the times and the owner that they have on disk, and
those of a wheel modes that depend on the umask.
"""

import gzip
import io
import os
import tarfile
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

# Setuptools gives the time in this variable to the files of a wheel. The default is hatchling's.
TIME = int(os.environ.setdefault("SOURCE_DATE_EPOCH", "1580601600"))

os.umask(0o022)


def build_sdist(folder, config_settings=None):
    """Build an sdist in `folder`, with fixed times, owners and modes, and return its name."""
    name = build_meta.build_sdist(folder, config_settings)
    path = Path(folder, name)
    members = io.BytesIO()
    with tarfile.open(path) as built, tarfile.open(fileobj=members, mode="w") as copy:
        for member in sorted(built.getmembers(), key=lambda member: member.name):
            member.mtime = TIME
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            copy.addfile(member, built.extractfile(member) if member.isfile() else None)
    path.write_bytes(gzip.compress(members.getvalue(), mtime=TIME))
    return name
