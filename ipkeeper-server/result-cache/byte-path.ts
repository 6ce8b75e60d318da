const slash = 0x2f

/** Names on a disk are bytes: one that is no UTF-8 has to be opened, moved and brought back as well. */
export function joinBytes(folder: Buffer, name: Buffer | string): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), typeof name === 'string' ? Buffer.from(name) : name])
}

export function folderOf(path: Buffer): Buffer {
  const at = path.lastIndexOf(slash)
  return at <= 0 ? Buffer.from('/') : path.subarray(0, at)
}

export function nameOf(path: Buffer): Buffer {
  return path.subarray(path.lastIndexOf(slash) + 1)
}

/** Whether a path can be told as text without loss. */
export function isText(path: Buffer): boolean {
  return Buffer.from(path.toString()).equals(path)
}
