import type { OpenInput } from '../../stdin.ts'
import { readOn } from './read-on.ts'

const stdin = 0

/** Reads only what has come already, so that a descriptor that others share can stay one that waits. */
export const openInput: OpenInput = () => Promise.resolve(listener => readOn(stdin, listener))
