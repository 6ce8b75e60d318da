/** The page of questions prints what the packaged executables print. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { missing } from '../rigs/requirements.ts'
import { typedSite } from '../rigs/typed-site.ts'

const skip = missing('executables')

const page = join(import.meta.dirname, '..', '..', 'docs', 'guides', 'questions.md')

/** What differs from run to run, written as one word, and columns that are as wide as that. */
const settled = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b\d+(ms|[smhd])\b/g, 'AGE')
    .replaceAll(/\b\d+ s\b/g, 'AGE')
    // The daemon of the page is on the usual paths.
    .replaceAll(/ --socket \S+/g, '')
    .replaceAll(/ {2,}/g, '  ')
    .trim()

/** A command of the page, and what stands below it. */
const typed = /^```\n\$ ipkeeperctl (.*)\n([^]*?)^```$/gm

t.test('every command of the page, in its order', { skip }, async t => {
  const { add, del, daemon } = await typedSite(t, { node: 'n1' }, '10.22.0.0/24')
  await add('shop/web-0')
  await add('shop/web-1', { 'ipkeeper.io/retain': 'forever' })
  await del('shop/web-1')
  await add('lab/db-0')
  const before = readFileSync(page, 'utf8')
  let after = before
  let commands = 0
  for (const [block, line = '', printed = ''] of before.matchAll(typed)) {
    const { stdout, stderr } = await daemon.control(...line.split(' '))
    t.equal(settled(stdout + stderr), settled(printed), line)
    after = after.replace(block, () => `\`\`\`\n$ ipkeeperctl ${line}\n${stdout}${stderr}\`\`\``)
    commands++
  }
  t.ok(commands >= 5)
  // After a text was changed: PAGE=write node test/packaged/questions.test.ts
  if (process.env['PAGE'] === 'write') writeFileSync(page, after)
})
