/** docs/install/containerd.md, followed line by line on a machine that has never seen ipkeeper. */
import t from 'tap'
import { startContainerdMachine } from '../rigs/containerd-machine.ts'
import { followPage } from '../rigs/install-page.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('clean-machine', 'containerd', 'reference-plugins', 'nft', 'arping', 'executables')

t.test('the page on containerd alone', { skip }, async t => {
  const machine = await startContainerdMachine(t)
  await followPage(t, machine, 'containerd.md')
  await t.test('nothing but what it says is left', async t => {
    const left = await machine.must(
      'ls -d /usr/lib/cni/ipkeeper /usr/local/bin/ipkeeper* /usr/local/lib/systemd/system/ipkeeper* /etc/cni/net.d/* /run/ipkeeper/ipkeeper.sock 2>/dev/null || true',
    )
    t.equal(left, '')
  })
})
