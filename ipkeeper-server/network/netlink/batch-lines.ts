/** A word as it is, or within quotes, as writeBatch of plan/command.ts writes them. */
const word = /\s*(?:"([^"\\]*)"|([^\s"\\#]+))(?=\s|$)/y

/**
 * The words of each line of an `ip` batch; undefined where there is something that only `ip` understands, such as a comment
 * or a line that goes on in the next one.
 */
export function readBatchLines(input: string): readonly (readonly string[])[] | undefined {
  const lines = input.replace(/\n$/, '').split('\n').map(readWords)
  return lines.every(line => line !== undefined && line.length > 0)
    ? (lines as readonly string[][])
    : undefined
}

function readWords(line: string): string[] | undefined {
  const words: string[] = []
  word.lastIndex = 0
  while (word.lastIndex < line.length) {
    const found = word.exec(line)
    if (!found) return undefined
    words.push(found[1] ?? found[2] ?? '')
  }
  return words
}
