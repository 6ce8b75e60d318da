import { codeOf, fail, ok, warn, type Check } from '../check.ts'
import { oursIn, readNetworks, type NetworkFile } from '../read-networks.ts'

export const conflistCheck: Check = {
  id: 'conflist',
  title: 'the network configurations can be read',
  why: 'containerd takes the first file of the folder: if that is broken, whoever wrote it, the node has no network, and pods cannot be deleted either.',
  run: node => {
    let files: readonly NetworkFile[]
    try {
      files = readNetworks(node.confDir)
    } catch (error) {
      return fail(`${node.confDir} cannot be read (${codeOf(error)})`, 'ls', '-la', node.confDir)
    }
    const [first] = files
    if (!first) return fail(`${node.confDir} has no network configuration`, 'ls', '-la', node.confDir)
    const bad = files.find(({ fault }) => fault !== undefined)
    if (bad) return fail(bad.fault ?? '', 'ipkeeperctl', 'lint', bad.path)
    const ours = files.filter(file => oursIn(file))
    if (ours.length === 0)
      return warn(
        `none of ${files.length} files in ${node.confDir} uses ipkeeper`,
        'ipkeeperctl',
        'lint',
        node.confDir,
      )
    if (!ours.includes(first))
      return warn(
        `${first.path} comes before ${ours[0]?.path ?? ''}: containerd takes that one`,
        ...['ipkeeperctl', 'lint', node.confDir],
      )
    return ok(`${first.path} (network ${first.name ?? '-'})`)
  },
}
