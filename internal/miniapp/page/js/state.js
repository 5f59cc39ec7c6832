// What all views share: who is signed in, the channel in view, and news of changes.

/** @typedef {import('../types').Person} Person */
/** @typedef {import('../types').ChannelLine} ChannelLine */
/** @typedef {import('../types').Changes} Changes */

/**
 * @typedef {object} View
 * @property {HTMLElement} el what is shown
 * @property {(topics: (keyof Changes)[]) => void} [changed] something changed on the server
 * @property {() => boolean} [leave] asked before the view goes; false: stay
 * @property {() => void} [gone]
 */

export const state = {
  /** @type {Person | null} */ person: null,
  /** @type {ChannelLine[]} */ channels: [],
  /** @type {ChannelLine | null} */ channel: null,
  /** Parameters of the present address besides the view. @type {URLSearchParams} */ params: new URLSearchParams(),
  /** Set by main. @type {(view: string, params?: Record<string, string>) => void} */ go: () => {},
  /** Reads who and which channels anew; set by main. @type {() => Promise<void>} */ refresh: async () => {},
};

/** The channel in view; views are only shown when there is one. @returns {ChannelLine} */
export function channel() {
  if (!state.channel) throw new Error('no channel is chosen');
  return state.channel;
}

/** Whether the person may decide here. */
export const mayEdit = () => state.channel?.role !== 'viewer';
export const mayOwn = () => state.channel?.role === 'owner';
