/**
 * What crictl of cri-tools does, as far as the pages on installing use it, for machines that do not have it: the same words,
 * files and answers, over the same interface of the real runtime.
 *
 *   node test/rigs/crictl-double.ts runp FILE | pods [-q] | stopp ID | rmp ID
 */
import { readFileSync } from 'node:fs'
import { openCri, type Pod } from './cri.ts'
import { until } from './poll.ts'

const cri = openCri('/run/containerd/containerd.sock', { cgroupParent: '', logDirectory: '/var/log/pods' })
const [command, word = ''] = process.argv.slice(2)
try {
  switch (command) {
    case 'runp': {
      // Whoever types is slower than containerd, which has just been given a network.
      await until('the network', async () => (await cri.conditions())['NetworkReady']?.status === true)
      const { metadata, ...rest } = JSON.parse(readFileSync(word, 'utf8')) as { metadata: Pod } & Omit<
        Pod,
        'name'
      >
      console.log(await cri.run({ ...rest, ...metadata }))
      break
    }
    case 'pods':
      if (word === '-q') {
        for (const { id } of await cri.list()) console.log(id)
        break
      }
      console.log('POD ID              STATE               NAME')
      for (const { id, ready, name } of await cri.list())
        console.log(`${id.slice(0, 13)}       ${ready ? 'Ready   ' : 'NotReady'}            ${name}`)
      break
    case 'stopp':
      await cri.stop(word)
      console.log(`Stopped sandbox ${word}`)
      break
    case 'rmp':
      await cri.remove(word)
      console.log(`Removed sandbox ${word}`)
      break
    default:
      throw new Error(`this stand-in for crictl knows no ${String(command)}`)
  }
} catch (error) {
  console.error(`FATA[0000] ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  cri.close()
}
