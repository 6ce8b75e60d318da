import { join } from 'node:path'
import { Problem } from '../../../shared/problem/problem.ts'
import { listConfDir } from '../../conf-dir/read-conf-dir.ts'
import { isRuntimeFile } from '../lint/runtime-files.ts'

/**
 * The file of a folder that containerd takes: the first by the bytes of its name, with a dot at the beginning or without
 * (cni-protocol J1, J2).
 *
 * @throws Problem IPK_CONFLIST_MISSING, IPK_CONF_DIR_UNREADABLE
 */
export async function chooseConflist(folder: string): Promise<string> {
  const first = (await listConfDir(folder)).find(isRuntimeFile)
  if (first !== undefined) return join(folder, first)
  throw new Problem('IPK_CONFLIST_MISSING', `${folder} has no .conflist, .conf or .json`)
}
