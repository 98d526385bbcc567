#!/usr/bin/env bash
# Boots systemd as the first process of separate namespaces, over a copy of this machine whose changes go to memory:
# what is installed, added or enabled there disappears with it. systemd.long.test.ts runs this with unshare, as root.
# bootMachine.sh SHARED...: each folder of this machine is shared with it, under /tmp too.
set -euo pipefail
mount --make-rprivate /
over=$(mktemp -d)
mount -t tmpfs tmpfs "$over"
mkdir "$over/upper" "$over/work" "$over/root"
root=$over/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$over/upper,workdir=$over/work" "$root"
mount -t proc proc "$root/proc"
# Keeps the booted machine from changing kernel settings.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount --rbind /dev "$root/dev"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
for shared in "$@"; do
  mkdir -p "$root$shared"
  mount --bind "$shared" "$root$shared"
done
ip link set lo up
# Of all units of a boot, only the journal is started.
units=$root/lib/systemd/system
rm -rf "$root"/etc/systemd/system/*.wants "$units"/{basic,multi-user,timers,sysinit,sockets,local-fs}.target.wants
mkdir "$units/sysinit.target.wants"
ln -s ../systemd-journald.service "$units/sysinit.target.wants/"
printf '[Journal]\nStorage=volatile\n' > "$root/etc/systemd/journald.conf"
rm -f "$root/etc/fstab"
rmdir "$over/work/work" 2> /dev/null || true
# Credentials are mounted in one namespace for another.
mount --make-rshared "$root"
export container=other
exec chroot "$root" /lib/systemd/systemd --system --unit=multi-user.target --log-target=journal
