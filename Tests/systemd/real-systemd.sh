#!/bin/bash
# Boots a real systemd as PID 1 of new namespaces, on a temporary overlay of this machine's root or of another tree. Runs a
# command in it as a unit, prints its output and exits with its status. Needs root and util-linux. Writes nothing outside its temporary
# directory, and leaves no process, mount or control group behind.
#   usage: [LIMIT=600] real-systemd.sh [--root TREE] [--bind DIR]... COMMAND [ARGUMENT]...
#     --root TREE  a directory with a system to boot instead of this machine's root
#     --bind DIR  mounts a directory read-only at the same path (/tmp, /run and /dev are new; other mounts are not visible)
#     LIMIT       total time in seconds
#   exit: that of the command; 125: it never finished; 77: not possible on this machine (a test should skip)
set -euo pipefail

main() {
    binds=() root=/
    if [ "${1:-}" = --root ]; then root=$(realpath "$2"); shift 2; fi
    while [ "${1:-}" = --bind ]; do binds+=("$(realpath "$2")"); shift 2; done
    [ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 64; }
    [ "$(id -u)" = 0 ] || cannot "needs root"
    [ -x "$root/lib/systemd/systemd" ] || cannot "needs the package systemd"
    W=$(mktemp -d /tmp/real-systemd.XXXXXX)
    trap 'rm -rf "$W"' EXIT
    mkdir "$W/out"
    echo "$root" > "$W/root"
    printf '%q ' "$@" > "$W/command"
    unshare --mount --propagation private bash "$0" --in-cgroup "$W" ${binds[@]+"${binds[@]}"} || cannot "no namespaces or no cgroup2 here"
    [ -e "$W/out/booted" ] || cannot "no systemd boots here: $(tail -3 "$W/out/console")"
    cat "$W/out/output" 2>/dev/null || true
    [ -s "$W/out/status" ] || { echo "real-systemd: the command never finished" >&2; tail -50 "$W/out/console" >&2; exit 125; }
    exit "$(cat "$W/out/status")"
}

cannot() { echo "real-systemd: $1" >&2; exit 77; }

# Runs in a mount namespace: mounts cgroup2, creates a control group, then enters the other namespaces.
in_cgroup() {
    W=$1; shift
    mkdir "$W/cg"
    mount -t cgroup2 cgroup2 "$W/cg"
    group=$W/cg/real-systemd.$$
    mkdir "$group"
    trap remove_group EXIT
    (
        echo $BASHPID > "$group/cgroup.procs"
        exec timeout --foreground -k 5 "${LIMIT:-600}" unshare --mount --pid --fork --kill-child --uts --ipc --net --cgroup \
            --propagation private bash "$0" --in-namespaces "$W" "$@" > "$W/out/console" 2>&1
    ) || true   # the result is in out/status
}

# Retries, because the kernel needs a moment to empty a group of killed processes.
remove_group() {
    for _ in {1..20}; do
        find "$group" -depth -type d -exec rmdir {} + 2>/dev/null && break
        sleep .1
    done
}

# Runs in all namespaces as PID 1: creates the new root and starts systemd in it.
in_namespaces() {
    W=$1; shift
    R=$W/fs/root
    mkdir "$W/fs"
    mount -t tmpfs -o mode=755 tmpfs "$W/fs"
    mkdir "$W/fs/upper" "$W/fs/work" "$R"
    mount -t overlay overlay -o "lowerdir=$(cat "$W/root"),upperdir=$W/fs/upper,workdir=$W/fs/work" "$R"
    # The accounts that this script sees: a mount over them is not part of the lower directory.
    [ "$(cat "$W/root")" != / ] || cp /etc/passwd /etc/group "$R/etc/"
    mount_kernel_files
    mount_devices
    mount -t tmpfs -o mode=755 tmpfs "$R/run"
    mount -t tmpfs -o mode=1777 tmpfs "$R/tmp"
    for directory in "$@"; do
        mkdir -p "$R$directory"
        mount --bind "$directory" "$R$directory"
        mount -o remount,ro,bind "$R$directory"
    done
    write_guest
    ip link set lo up 2>/dev/null || true
    cd "$R"
    mkdir -p .oldroot
    pivot_root . .oldroot
    umount -l /.oldroot
    rmdir /.oldroot
    # The bounding set drops all capabilities that affect the kernel, the clock or the audit system.
    exec env -i container=real-systemd PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        setpriv --bounding-set=-sys_module,-sys_rawio,-sys_boot,-sys_time,-syslog,-mac_admin,-mac_override,-wake_alarm,-block_suspend,-audit_control,-audit_read \
        /lib/systemd/systemd --system --unit=guest.target --show-status=false
}

mount_kernel_files() {
    mount -t proc proc "$R/proc"
    mount --bind "$R/proc/sys" "$R/proc/sys"
    mount -o remount,ro,bind "$R/proc/sys"
    mount -t sysfs -o ro sysfs "$R/sys"
    mount -t cgroup2 cgroup2 "$R/sys/fs/cgroup"
}

mount_devices() {
    mount -t tmpfs -o mode=755,nosuid tmpfs "$R/dev"
    mkdir "$R/dev/pts" "$R/dev/shm"
    for name in null zero full random urandom tty; do
        touch "$R/dev/$name"
        mount --bind "/dev/$name" "$R/dev/$name"
    done
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$R/dev/pts"
    ln -s pts/ptmx "$R/dev/ptmx"
    mount -t tmpfs -o mode=1777 tmpfs "$R/dev/shm"
    ln -s /proc/self/fd "$R/dev/fd"
    ln -s fd/0 "$R/dev/stdin"
    ln -s fd/1 "$R/dev/stdout"
    ln -s fd/2 "$R/dev/stderr"
}

# Writes the units that run the command and shut down, without any that need hardware.
write_guest() {
    units=$R/run/systemd/system
    mkdir -p "$R/run/guest/out" "$units"
    cp "$W/command" "$R/run/guest/command"
    mount --bind "$W/out" "$R/run/guest/out"
    rm -f "$R/etc/machine-id"
    echo 0123456789abcdef0123456789abcdef > "$R/etc/machine-id"
    echo real-systemd > "$R/etc/hostname"
    for unit in systemd-journald-audit.socket systemd-remount-fs.service modprobe@.service systemd-udevd.service \
        dev-hugepages.mount sys-fs-fuse-connections.mount systemd-timesyncd.service systemd-update-utmp.service getty.target; do
        ln -sf /dev/null "$units/$unit"
    done
    cat > "$units/guest.target" <<'UNIT'
[Unit]
Requires=guest.service
Wants=sysinit.target systemd-journald.service dbus.socket
UNIT
    cat > "$units/guest.service" <<'UNIT'
[Unit]
DefaultDependencies=no
After=sysinit.target systemd-journald.service systemd-journald.socket dbus.socket
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/bash -c 'cd /run/guest/out; touch booted; bash ../command > output 2>&1; echo $? > status'
UNIT
}

case ${1:-} in
--in-cgroup) shift; in_cgroup "$@" ;;
--in-namespaces) shift; in_namespaces "$@" ;;
*) main "$@" ;;
esac
