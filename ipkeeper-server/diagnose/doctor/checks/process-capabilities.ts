import { readFileSync } from 'node:fs'
import { fail, ok, skip, type Check } from '../check.ts'
import { oursIn } from '../our-plugin.ts'
import { lookAtDaemonProcess } from '../read-process.ts'

/** Bits of linux/capability.h. */
const wanted = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n } as const

export const processCapabilitiesCheck: Check = {
  id: 'process-capabilities',
  title: 'the daemon may wire pods',
  why: 'To make links, and to enter the namespace of a pod, the daemon needs CAP_NET_ADMIN and CAP_SYS_ADMIN.',
  run: async node =>
    await lookAtDaemonProcess(node, folder => {
      const line = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1]
      if (line === undefined) return skip(`${folder}/status does not say`)
      const has = BigInt(`0x${line}`)
      const missing = Object.entries(wanted).flatMap(([name, bit]) => ((has >> bit) & 1n ? [] : [name]))
      if (missing.length === 0) return ok(Object.keys(wanted).join(', '))
      if (!node.networks.some(file => oursIn(file)?.main === true))
        return ok(`without ${missing.join(', ')}, which no network here needs`)
      return fail(`it lacks ${missing.join(', ')}`, 'systemctl', 'cat', 'ipkeeper')
    }),
}
