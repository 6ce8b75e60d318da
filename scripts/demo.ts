/**
 * `make demo`: the main job on real software, told step by step. It plays in private namespaces: a containerd of its
 * own where the packages are, else network namespaces. It is told twice: with the reference bridge as main plugin, and
 * with ipkeeper. Exit 1 when a step did not do what
 * it should, so the demo is a check as well.
 *
 *   node scripts/demo.ts [--without-containerd]
 */
import { parseArgs } from 'node:util'
import { wiringPlugins, type WiringPlugin } from '../test/rigs/fixed-network.ts'
import { missing } from '../test/rigs/requirements.ts'
import { startNarrator } from './demo/narrator.ts'
import { setStage } from './demo/stage.ts'
import { tellStory } from './demo/story.ts'

// A reader who left (`make demo | head`) ends the demo, which cleans up on its way out.
process.stdout.on('error', () => process.exit(1))
const narrator = startNarrator(process.stdout)

const lacking = missing('namespaces', 'reference-plugins', 'nft', 'executables')
if (lacking !== false) {
  console.error(`the demo cannot run: ${lacking}`)
  process.exit(1)
}
const { values: options } = parseArgs({
  options: { 'without-containerd': { type: 'boolean', default: false } },
})
const withoutContainerd = options['without-containerd'] ? 'as was asked for' : missing('containerd')

narrator.title('ipkeeper: a pod asks for an address by annotation and gets it')
if (withoutContainerd !== false) {
  narrator.line('note', `without containerd (${withoutContainerd}): the plugins are called as it would`)
}
// With spaces between its members it can be broken into lines.
const spaced = (value: object): string => JSON.stringify(value).replace(/,(?=["{])/g, ', ')

const acts: Readonly<Record<WiringPlugin, string>> = {
  bridge: 'The reference bridge wires the pods, and asks ipkeeper for their addresses',
  ipkeeper: 'The same with ipkeeper alone: it wires the pods itself',
}
for (const wiring of wiringPlugins) {
  console.log()
  narrator.title(acts[wiring])
  const stage = await setStage(withoutContainerd === false ? 'containerd' : 'namespaces', wiring)
  narrator.line(
    'runtime',
    `${stage.runtime.name}, in namespaces of its own; nothing on this machine is touched`,
  )
  narrator.line('conflist', spaced(stage.conflist))
  narrator.line('config', spaced(stage.configuration))
  try {
    await tellStory(stage, narrator)
  } finally {
    await stage.close()
  }
}

console.log()
const mistakes = narrator.mistakes()
narrator.title(mistakes === 0 ? 'Every step did what it should.' : `${mistakes} of the steps went wrong.`)
process.exitCode = mistakes === 0 ? 0 : 1
