import { chmodSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { readDaemonLog } from '../../../../ipkeeper-server/cli/bundle/daemon-log.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

t.test('the journal, and what stands in for it', async t => {
  const folder = tempFolder(t)
  const read = (script: string, limit = 20_000) => {
    writeFileSync(folder.file('journalctl'), `#!/bin/sh\n${script}\n`)
    chmodSync(folder.file('journalctl'), 0o755)
    return readDaemonLog({ place: {}, env: { PATH: folder.path } }, limit, folder.path)
  }
  t.equal(await read('echo "$@"'), '-u ipkeeper -n 2000 -o short-iso --no-pager -q\n')
  await t.rejects(read('echo no access >&2; exit 3'), { message: 'journalctl -u ipkeeper: exit 3 no access' })
  await t.rejects(read('exit 0'), { message: 'the journal has no lines of ipkeeper' })
  await t.rejects(read('echo hint: not in group adm >&2'), { message: /no lines of ipkeeper: hint: not in/ })
  await t.rejects(read('exec /bin/sleep 60', 300), {
    message: 'journalctl -u ipkeeper did not end within 0.3 s',
  })
  writeFileSync(folder.file('journalctl'), '#!/none/sh\n')
  await t.rejects(readDaemonLog({ place: {}, env: { PATH: folder.path } }, 1000, folder.path), {
    message: /^journalctl -u ipkeeper: .*ENOENT/,
  })
  await t.rejects(readDaemonLog({ place: {}, env: {} }, 1000, folder.file('none')), {
    message: /^systemd does not run here/,
  })
  const startedAs = { service: 'pod', namespace: 'ipkeeper-system', node: 'n1' } as const
  await t.rejects(readDaemonLog({ place: { startedAs }, env: {} }, 1000, folder.path), {
    message: /^systemd does not run the daemon; kubectl -n ipkeeper-system logs /,
  })
})
