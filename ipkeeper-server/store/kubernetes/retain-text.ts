import { formatRetention, parseRetention, type Retention } from '../../ipam/records/retention.ts'
import { UnreadableObject } from './read-object.ts'

/** As in a configuration; milliseconds where no unit of it is fine enough. */
export function retainText(retain: Retention): string {
  if (typeof retain === 'string' || retain.milliseconds % 1000 === 0) return formatRetention(retain)
  return `${retain.milliseconds}ms`
}

/** Throws UnreadableObject. */
export function readRetain(text: string): Retention {
  const retain = text.endsWith('ms') ? { milliseconds: Number(text.slice(0, -2)) } : parseRetention(text)
  if (!retain) throw new UnreadableObject(`${JSON.stringify(text)} is no retention`)
  return retain
}
