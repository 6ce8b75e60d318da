/** What stands at a netns path. `inode` identifies the namespace while it lives. */
export type NetnsState =
  | { readonly kind: 'namespace'; readonly inode: string }
  | { readonly kind: 'not-a-namespace' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly reason: string }
