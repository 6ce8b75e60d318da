/** docs/install/nerdctl.md, followed line by line on a machine that has never seen ipkeeper. */
import t from 'tap'
import { startContainerdMachine } from '../rigs/containerd-machine.ts'
import { followPage } from '../rigs/install-page.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing(
  'clean-machine',
  'containerd',
  'reference-plugins',
  'nft',
  'arping',
  'executables',
  'callers',
)

t.test('the page on nerdctl', { skip }, async t => {
  const machine = await startContainerdMachine(t)
  await followPage(t, machine, 'nerdctl.md')
})
