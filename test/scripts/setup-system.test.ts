/** What scripts/setup-system.sh installs, on a machine of its own that lacks some programs; apt-get only says what it was asked for. */
import t from 'tap'
import { startCleanMachine } from '../rigs/clean-machine.ts'
import { missing } from '../rigs/requirements.ts'

const aptGet = `#!/bin/sh
echo "$*" >>/tmp/asked
trap 'exit 1' INT TERM
[ ! -e /tmp/hangs ] || { echo begun >/tmp/begun; sleep 60 & wait; }
for name in "$@"; do case $name in zsh | containerd | runc) echo "Setting up $name (1.0-1) ..." ;; esac; done
echo 'Setting up libseccomp2:amd64 (2.5) ...'
`

t.test('what is installed', { skip: missing('clean-machine') }, async t => {
  const machine = await startCleanMachine()
  t.teardown(() => machine.close())
  await machine.must(
    'rm /usr/bin/containerd /usr/bin/zsh && mkdir -p .cache/promtool && touch /usr/local/bin/promtool',
  )
  await machine.must(
    `chmod 755 /usr/local/bin/promtool; cat >/usr/local/bin/apt-get <<'end'\n${aptGet}end\nchmod 755 /usr/local/bin/apt-get`,
  )
  for (const [option, asked, left] of [
    ['--demo', 'containerd', 'containerd'],
    ['', 'containerd zsh', 'containerd zsh'],
  ] as const)
    await t.test(`setup-system.sh ${option}`, async t => {
      await machine.must('rm -f /tmp/asked')
      const { stdout, stderr } = await machine.shell(`sh scripts/setup-system.sh ${option}`)
      t.match(await machine.must('cat /tmp/asked'), new RegExp(`--no-install-recommends ${asked}\\n$`))
      t.match(
        stdout,
        `setup: installed ${asked} libseccomp2:amd64; to remove them: apt-get purge ${asked} libseccomp2:amd64\n`,
      )
      for (const name of left.split(' ')) t.match(stderr, `setup: MISSING ${name} `)
    })

  await t.test('an interrupt leaves nothing behind', async t => {
    await machine.must(`
      touch /tmp/hangs; ls -A /tmp /usr/sbin >/tmp/before
      setsid sh scripts/setup-system.sh --demo >/dev/null 2>&1 & pid=$!
      timeout 10 sh -c 'until [ -s /tmp/begun ]; do sleep 0.05; done'
      kill -TERM -$pid; wait $pid || true
      rm /tmp/begun`)
    t.equal(
      await machine.must('ls -A /tmp /usr/sbin | diff /tmp/before - | grep "^[<>]" | grep -v before || true'),
      '',
    )
  })
})
