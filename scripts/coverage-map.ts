/** The folders of unit tests, which alone are measured: other tests run what was built, or run other cases each time. */
export const unitFolders: readonly string[] = [
  'test/shared',
  'test/plugin',
  'test/ipkeeper-server',
  'test/contract',
]

/**
 * The sources that a test file counts for: those of the room that it mirrors, so that no folder is green only because
 * others pass through it. tap calls this for each test file, and measures nothing where it says null.
 */
export default function coveredBy(testFile: string): string | null {
  const [, folder = '', room = ''] = testFile.split('/')
  if (!unitFolders.includes(`test/${folder}`)) return null
  if (folder === 'contract') return 'ipkeeper-server/store/**/*.ts'
  return folder === 'ipkeeper-server' && !room.endsWith('.ts')
    ? `${folder}/${room}/**/*.ts`
    : `${folder}/**/*.ts`
}
