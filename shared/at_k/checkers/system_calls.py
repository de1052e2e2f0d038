"""The system calls that a sandbox refuses, as a filter for the kernel (seccomp).

They would let a program read the memory of the server, which has the same user, or change its
limits and its priority, make namespaces, use memory that no limit counts or that stays for the next
program, or reach rarely used parts of the kernel.
"""

from __future__ import annotations

import errno
import platform
import struct

# The refused calls, and those of which some are refused: their numbers on x86_64 and aarch64.
_MACHINES = ("x86_64", "aarch64")
_ARCHITECTURES = (0xC000003E, 0xC00000B7)  # AUDIT_ARCH of the kernel
_REFUSED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
    "mq_open": (240, 180), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "open_by_handle_at": (304, 265), "setpriority": (141, 140), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "ioprio_set": (251, 30), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
}  # fmt: skip
_CLONE, _SOCKET = (56, 220), (41, 198)
_LIMIT = (302, 261)  # prlimit64, which setrlimit of the C library calls
# Unix, IPv4, IPv6 and netlink. Others, such as VSOCK to the host of a machine, have no namespace.
_FAMILIES = (1, 2, 10, 16)
_CLONE3 = 435
_NEW_USER_NAMESPACE = 0x10000000
_OTHER_ABI = 0x40000000  # numbers from here on are of the ABI x32

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _END = 0x7FFF0000, 0x00050000, 0x80000000


def system_call_filter() -> bytes | None:
    """Return the filter for this machine, or None if its system calls are not listed here."""
    if platform.machine() not in _MACHINES:
        return None
    machine = _MACHINES.index(platform.machine())
    refuse = (_RETURN, 0, 0, _REFUSE | errno.EPERM)
    program = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_IF_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _END),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_IF_AT_LEAST, 0, 1, _OTHER_ABI),
        refuse,
    ]
    for numbers in _REFUSED.values():
        program += [(_IF_EQUAL, 0, 1, numbers[machine]), refuse]
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
