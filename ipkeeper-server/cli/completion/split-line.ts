/**
 * Splits the beginning of a shell's line into words as bash would: quotes and backslashes are taken away, nothing is
 * expanded. The last word, which may be empty, is the one at the cursor.
 */
export function splitLine(line: string): readonly string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let index = 0; index < line.length; index++) {
    const char = line.charAt(index)
    if (char === '\\' && quote !== "'") word += line.charAt(++index)
    else if (quote === char) quote = ''
    else if (quote === '' && (char === '"' || char === "'")) quote = char
    else if (quote === '' && /\s/.test(char)) {
      if (word !== '') words.push(word)
      word = ''
    } else word += char
  }
  return [...words, word]
}
