import t from 'tap'
import { readBoot, readBootId } from '../../../ipkeeper-server/host/boot.ts'

t.test('the boot is that of the kernel', t => {
  const bootId = readBootId()
  t.match(bootId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  t.equal(readBootId(), bootId)
  t.equal(readBoot().id, bootId)
  t.end()
})
