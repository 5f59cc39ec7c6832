// What the API sends, for the type checker alone: this file is not served.
// openapi.json says the same for everybody else.

export type State = 'proposed' | 'scheduled' | 'publishing' | 'published' | 'skipped' | 'failed' | 'unconfirmed';
export type Role = 'owner' | 'editor' | 'viewer';
export type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

export interface Person { id: number; first_name: string; username: string; language: string; operator: boolean; channel_id: number }
export interface ChannelLine {
  id: number; title: string; username: string; state: 'active' | 'no_rights' | 'kicked' | 'unlinked'; missing: string[];
  paused: boolean; rests: boolean; role: Role; time_zone: string; language: string; image_style: 'preview' | 'photo' | 'none';
  waiting: number; sources: number; notify: boolean; version: number;
}
export interface Channel extends ChannelLine {
  tone: string[]; look_for: string; avoid: string; threshold: number; footer: string; link_style: string; hashtags: string[];
  week: Record<Weekday, string[]>; quiet_from: string; quiet_to: string; daily_cap: number; missed: string;
  autopilot: string; autopilot_minutes: number; autopilot_score: number; autopilot_sources: number[];
  digest: string; digest_at: string;
}
export interface Me { person: Person; channels: ChannelLine[] }
export interface Session extends Me { token: string; expires_at: string; first?: { channel_id: number; changes: Changes; plan: Plan } }

export interface Reason { code: string; words?: string[]; points?: number }
export interface Check { code: string; detail?: string }
export interface SourceRef { id: number; title: string; url: string }
export interface Publication {
  state: string; link: string; published_at?: string; settled_how: string; error: string; edited_at?: string; deleted_at?: string; looked: number;
}
export interface Draft {
  id: number; channel_id: number; story_id: number; kind: 'post' | 'follow_up' | 'digest' | 'own'; state: State; transition: number;
  revision: number; revisions: number; score: number; explore: boolean; slot_at?: string; decided_by: string; decided_at?: string;
  skip_reason: string; failure: string; html: string; link: string; image: string; composer: string; fallback: string;
  checks: Check[]; evidence: { claim: string; quote: string }[]; reasons: Reason[]; source_id: number; source_title: string; also: SourceRef[];
  item_url: string; item_title: string; item_at?: string; next_slot?: string; autopilot_at?: string; created_at: string;
  tokens?: number; publication?: Publication;
}
export interface Drafts { drafts: Draft[]; next?: number }
export interface Decision {
  draft_id: number; done: boolean; already: boolean; state: State; transition: number;
  slot_at?: string; by?: number; by_name?: string; skip_reason?: string; failure?: string; link: string;
}
export interface Accepted { job_id: number; draft_id?: number; fresh: boolean }

export interface SlotDraft { id: number; title: string; state: State; transition: number }
export interface Slot { at: string; kind: 'free' | 'taken' | 'capped' | 'past'; gap: boolean; extra: boolean; draft?: SlotDraft }
export interface PlanDay { date: string; slots: Slot[] }
export interface Plan {
  time_zone: string; today: string; days: PlanDay[]; lasts_until?: string; ends_at?: string; gaps: number; free: number; scheduled: number; waiting: number;
}

export interface Source {
  id: number; title: string; address: string; url: string; site_url: string; kind: string; language: string; state: string;
  health: 'ok' | 'new' | 'failing' | 'paused' | 'gone' | 'resting'; paused: boolean; rests: boolean; weight: number;
  must_words: string[]; never_words: string[]; pattern: string; last_new_at?: string; last_poll_at?: string; next_poll_at?: string;
  error?: string; error_text?: string; failing_since?: string; items: number; drafts: number; already: boolean;
}
export interface Rhythm { today: string; days: number; sources: Record<string, { day: string; fresh: number; proposed: number }[]> }
export interface ProbeItem { title: string; url: string; at?: string }
export interface Probe { address: string; url: string; kind: string; title: string; latest: ProbeItem[]; choices: ProbeItem[]; is_feed: boolean; known: boolean }
export interface Pack { id: string; language: string; title: string; sources: string[] }

export interface Job { id: number; kind: string; key: string; state: string; run_at?: string; since: string; failures: number; error?: string; draft_id?: number }
export interface Status {
  pending: Job[]; running: Job[]; failing: Job[]; archived: Job[]; unconfirmed: Draft[]; failed: Draft[];
  proposed: number; scheduled: number; next?: string; sick: Source[];
}
export interface Event { at: string; code: string; by_name?: string; args?: Record<string, any> }
export interface Activity { events: Event[]; next?: string }
export interface Life { draft_id: number; title: string; url: string; events: Event[]; waiting: Job[]; post?: { url: string } }
export interface Dropped {
  story_id: number; title: string; url: string; source: string; score: number; verdict: string; reasons: Reason[]; at: string; draft_id?: number;
}
export interface StatDay { day: string; proposed: number; below: number; score: number; approved: number; skipped: number; published: number }
export interface Stats { today: string; span: number; days: StatDay[] }
export interface Member { person_id: number; first_name: string; username: string; role: Role; notify: boolean }

export interface Billing {
  enabled: boolean; plan: string; title: string; until?: string; renews: boolean; trial: boolean; quotas: { code: string; used: number; limit: number }[];
  plans: { id: string; title: string; price: string; days: number; limits: Record<string, number> }[];
  payments: { at: string; price: string; plan: string; state: string }[];
}
export interface Changes { drafts: string; plan: string; sources: string; settings: string }
