import { chmodSync, writeFileSync } from 'node:fs'
import { findProgram } from './find-program.ts'
import type { TempFolder } from './temp-folder.ts'

/**
 * A stand-in for `ip` that refuses what kernels before 6.15 refuse: a link that is to be made in another namespace under a
 * name that a link of this one has (linux:net/core/rtnetlink.c, rtnl_newlink). All else is carried out.
 *
 * @param folder where it lives: one that every host of the test sees
 * @returns environment of the daemon that is to find it
 */
export function makeOlderKernelIp(folder: TempFolder): Readonly<Record<string, string>> {
  const program = folder.file('ip')
  const real = findProgram('ip') ?? 'ip'
  writeFileSync(
    program,
    `#!/bin/sh
[ "$1" = -batch ] || exec ${real} "$@"
batch=$(cat)
number=0
refused=
while read -r words; do
  number=$((number + 1))
  case "$words" in 'link add '*) ;; *) continue ;; esac
  # What stands after "peer" is a link of its own, which no kernel looks for here.
  name=$(printf '%s' "\${words%% peer *}" | sed -n 's/^.* name \\([^ ]*\\).*$/\\1/p')
  if [ -n "$name" ] && [ -e "/proc/sys/net/ipv4/conf/$name" ]; then refused=$number; break; fi
done <<BATCH
$batch
BATCH
[ -n "$refused" ] || { printf '%s\\n' "$batch" | exec ${real} "$@"; exit; }
printf '%s\\n' "$batch" | head -n $((refused - 1)) | ${real} "$@" || exit
printf 'RTNETLINK answers: File exists\\nCommand failed -:%d\\n' "$refused" >&2
exit 2
`,
  )
  chmodSync(program, 0o755)
  return { PATH: `${folder.path}:/usr/sbin:/usr/bin:/sbin:/bin`, IPK_NETLINK: 'off' }
}
