import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { findPlugin } from '../../plugin/find-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

t.test('the first regular file of that name in CNI_PATH', t => {
  const folder = tempFolder(t)
  for (const name of ['a', 'b', 'c']) mkdirSync(folder.file(name))
  mkdirSync(folder.file('a', 'dhcp'))
  writeFileSync(folder.file('b', 'dhcp'), '')
  writeFileSync(folder.file('c', 'dhcp'), '')
  symlinkSync(folder.file('b', 'dhcp'), folder.file('c', 'linked'))
  symlinkSync(folder.file('nowhere'), folder.file('c', 'dangling'))
  const path = ['', folder.file('none'), folder.file('a'), folder.file('b'), folder.file('c')].join(':')
  t.equal(findPlugin('dhcp', path), folder.file('b', 'dhcp'), 'a folder of that name is passed over')
  t.equal(findPlugin('linked', path), folder.file('c', 'linked'))
  t.equal(findPlugin('dangling', path), undefined)
  t.equal(findPlugin('dhcp', ''), undefined)
  t.end()
})
