import { readFile } from 'node:fs/promises'

/** MAC of a link of the host; undefined where there is none of that name. Only our own records name it. */
export async function linkMac(name: string): Promise<string | undefined> {
  if (!/^[^/\0]{1,15}$/.test(name) || name === '.' || name === '..') return undefined
  const text = await readFile(`/sys/class/net/${name}/address`, 'utf8').catch(() => '')
  return text.trim() || undefined
}
