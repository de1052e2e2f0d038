"""The system calls that a sandbox refuses, as a filter for the kernel (seccomp).

They would let a program read the memory of the server, which has the same user, or change its
limits and its priority, make namespaces, use memory that no limit counts or that stays for the next
program, or reach rarely used parts of the kernel.
"""

from __future__ import annotations

import errno
import platform
import struct

# Of each machine: its number in the kernel (AUDIT_ARCH), `clone`, and the refused calls.
_REFUSED = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438,
        "kcmp": 312, "keyctl": 250, "add_key": 248, "request_key": 249, "shmget": 29, "msgget": 68,
        "semget": 64, "mq_open": 240, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166,
        "pivot_root": 155, "chroot": 161, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
        "io_uring_setup": 425, "open_by_handle_at": 304, "setpriority": 141, "sched_setparam": 142,
        "sched_setscheduler": 144, "sched_setaffinity": 203, "sched_setattr": 314,
        "ioprio_set": 251, "migrate_pages": 256, "move_pages": 279, "memfd_create": 319,
        "memfd_secret": 447,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_getfd": 438,
        "kcmp": 272, "keyctl": 219, "add_key": 217, "request_key": 218, "shmget": 194,
        "msgget": 186, "semget": 190, "mq_open": 180, "unshare": 97, "setns": 268, "mount": 40,
        "umount2": 39, "pivot_root": 41, "chroot": 51, "bpf": 280, "perf_event_open": 241,
        "userfaultfd": 282, "io_uring_setup": 425, "open_by_handle_at": 265, "setpriority": 140,
        "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122,
        "sched_setattr": 274, "ioprio_set": 30, "migrate_pages": 238, "move_pages": 239,
        "memfd_create": 279, "memfd_secret": 447,
    },
}  # fmt: skip
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_LIMIT = {"x86_64": 302, "aarch64": 261}  # prlimit64, which setrlimit of the C library calls
_SOCKET = {"x86_64": 41, "aarch64": 198}
# Unix, IPv4, IPv6 and netlink. Others, such as VSOCK to the host of a machine, have no namespace.
_FAMILIES = (1, 2, 10, 16)
_CLONE3 = 435
_NEW_USER_NAMESPACE = 0x10000000
_OTHER_ABI = 0x40000000  # numbers from here on are of the ABI x32

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _END = 0x7FFF0000, 0x00050000, 0x80000000


def system_call_filter() -> bytes | None:
    """Return the filter for this machine, or None if its system calls are not listed here."""
    machine = platform.machine()
    if machine not in _REFUSED:
        return None
    refuse = (_RETURN, 0, 0, _REFUSE | errno.EPERM)
    program = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_IF_EQUAL, 1, 0, _ARCHITECTURE[machine]),
        (_RETURN, 0, 0, _END),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_IF_AT_LEAST, 0, 1, _OTHER_ABI),
        refuse,
    ]
    for number in _REFUSED[machine].values():
        program += [(_IF_EQUAL, 0, 1, number), refuse]
    program += [
        # Without clone3, whose flags a filter cannot read, the C library calls clone.
        (_IF_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _REFUSE | errno.ENOSYS),
        (_IF_EQUAL, 0, 4, _LIMIT[machine]),
        (_LOAD, 0, 0, 16),  # the process, 0 for the one that calls
        (_IF_EQUAL, 1, 0, 0),
        refuse,
        (_RETURN, 0, 0, _ALLOW),
        (_IF_EQUAL, 0, len(_FAMILIES) + 3, _SOCKET[machine]),
        (_LOAD, 0, 0, 16),  # the family
        *((_IF_EQUAL, len(_FAMILIES) - i, 0, family) for i, family in enumerate(_FAMILIES)),
        (_RETURN, 0, 0, _REFUSE | errno.EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
        (_IF_EQUAL, 0, 3, _CLONE[machine]),
        (_LOAD, 0, 0, 16),  # the flags
        (_IF_ANY_BIT, 0, 1, _NEW_USER_NAMESPACE),
        refuse,
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
