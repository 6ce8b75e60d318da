import { readFileSync } from 'node:fs'
import { fail, ok, skip, type Check } from '../check.ts'
import { lookAtDaemonProcess, sharesMounts } from '../read-process.ts'

interface Mount {
  readonly point: string
  readonly propagates: boolean
}

/** Lines of proc(5) mountinfo: the optional fields, up to "-", say whether mounts come through. */
function readMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap(line => {
    const fields = line.split(' ')
    const point = fields[4]
    const end = fields.indexOf('-')
    if (point === undefined || end < 6) return []
    return [{ point, propagates: fields.slice(6, end).some(field => /^(shared|master):/.test(field)) }]
  })
}

const covers = (point: string, path: string): boolean =>
  point === path || point === '/' || path.startsWith(`${point}/`)

export const netnsPropagationCheck: Check = {
  id: 'netns-propagation',
  title: 'the daemon sees new namespaces of pods',
  why: 'A runtime mounts each namespace in /run/netns; a daemon in a container of its own sees them only with HostToContainer propagation.',
  run: async node =>
    await lookAtDaemonProcess(node, folder => {
      if (sharesMounts(folder)) return ok('it has the mounts of the node')
      const mounts = readMounts(readFileSync(`${folder}/mountinfo`, 'utf8'))
      const [mount] = mounts
        .filter(({ point }) => covers(point, '/run/netns') || covers(point, '/var/run/netns'))
        .sort((a, b) => b.point.length - a.point.length)
      if (!mount) return skip('its mounts do not say')
      return mount.propagates
        ? ok(`${mount.point} comes through`)
        : fail(
            `mounts below ${mount.point} do not reach it: mount /run/netns with HostToContainer`,
            ...['kubectl', 'get', 'daemonset', '--all-namespaces', '-o', 'yaml'],
          )
    }),
}
