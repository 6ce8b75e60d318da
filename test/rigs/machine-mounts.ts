/** Shell text for machines inside the machine: what they have beside their disk, and control groups of their own. */

/** Of this machine's settings; a machine on which nothing is installed yet has none of them. */
export const forgotten = [
  '/etc/cni/net.d',
  '/etc/ipkeeper',
  '/opt/cni',
  '/var/lib/ipkeeper',
  '/usr/local/bin/ipkeeper*',
]

/**
 * What a kernel and an init system bring, mounted below `root` in the working directory. Of the real machine's devices there are
 * those that harm nobody.
 *
 * @param empty folders that are file systems of their own, and empty
 */
export const mountMachine = (empty: readonly string[]): string => `
mount -t proc proc root/proc
mount -t sysfs -o ro sysfs root/sys
mount -t tmpfs -o mode=0755 tmpfs root/dev
mkdir root/dev/pts root/dev/shm
for device in null zero full random urandom tty; do
  touch "root/dev/$device"
  mount --bind "/dev/$device" "root/dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666 devpts root/dev/pts
ln -s pts/ptmx root/dev/ptmx
ln -s /proc/self/fd root/dev/fd
ln -s /proc/self/fd/0 root/dev/stdin
ln -s /proc/self/fd/1 root/dev/stdout
ln -s /proc/self/fd/2 root/dev/stderr
for folder in ${empty.join(' ')}; do
  mkdir -p "root/$folder"
  case $folder in *tmp) mode=1777 ;; *) mode=0755 ;; esac
  mount -t tmpfs -o mode=$mode tmpfs "root/$folder"
done
mount -t tmpfs -o mode=0755 tmpfs root/sys/fs/cgroup
for hierarchy in /sys/fs/cgroup/*; do
  [ -e "$hierarchy/cgroup.procs" ] || continue
  name=\${hierarchy##*/}
  mkdir "root/sys/fs/cgroup/$name"
  case $name in
    unified) mount -t cgroup2 cgroup2 "root/sys/fs/cgroup/$name" ;;
    systemd) mount -t cgroup -o none,name=systemd cgroup "root/sys/fs/cgroup/$name" ;;
    *) mount -t cgroup -o "$name" cgroup "root/sys/fs/cgroup/$name" ;;
  esac
done
`

/**
 * Enters control groups of that name in each hierarchy of version 1, below those of their parents.
 *
 * @param name as the shell reads it
 */
export const enterCgroups = (name: string): string => `
for hierarchy in /sys/fs/cgroup/*; do
  [ -e "$hierarchy/cgroup.procs" ] || continue
  here=$hierarchy
  for part in $(echo ${name} | tr / ' '); do
    mkdir -p "$here/$part"
    for file in cpuset.cpus cpuset.mems; do
      # Nothing may run in a group that has none.
      if [ -e "$here/$file" ] && [ -w "$here/$part/$file" ]; then
        cat "$here/$file" >"$here/$part/$file" || true
      fi
    done
    here=$here/$part
  done
  echo $$ >"$here/cgroup.procs"
done
`
