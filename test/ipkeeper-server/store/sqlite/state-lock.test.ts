import { mkdirSync } from 'node:fs'
import t from 'tap'
import { lockStateFolder } from '../../../../ipkeeper-server/store/sqlite/state-lock.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

t.test('a state folder is for one daemon at a time', async t => {
  const folder = tempFolder(t)
  const release = lockStateFolder(folder.path)
  const refused = await thrownProblem(() => lockStateFolder(folder.path))
  t.match(refused, {
    code: 'IPK_STORE_FAILED',
    message: /is in use by another ipkeeper-server/,
    hint: /--state-dir/,
  })
  release()
  lockStateFolder(folder.path)()
})

t.test('a folder that cannot be locked', async t => {
  const folder = tempFolder(t)
  mkdirSync(folder.file('daemon.lock'))
  t.match(await thrownProblem(() => lockStateFolder(folder.path)), {
    code: 'IPK_STORE_FAILED',
    message: /cannot be locked: unable to open/,
    hint: /^where no other ipkeeper-server runs with it: mv \S+daemon\.lock \S+daemon\.lock\.aside$/,
  })
})
