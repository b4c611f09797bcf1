//! Spoken conversations on a thread. Experimental: all of this may change.

use quipu_wire_macros::wire;

use crate::Json;

/// Parameters of `thread/realtime/start`.
#[wire(params, default)]
pub struct ThreadRealtimeStartParams {
    pub thread_id: String,
    /// What the voice model is asked to be and do.
    pub prompt: String,
    /// The name of the session at the provider; the thread's id if absent.
    pub session_id: Option<String>,
}

/// A piece of sound.
#[wire]
pub struct ThreadRealtimeAudioChunk {
    /// PCM samples, in base64.
    pub data: String,
    /// Samples per second, usually 24000.
    pub sample_rate: u32,
    pub num_channels: u16,
    pub samples_per_channel: Option<u32>,
    /// The provider's item that it is part of.
    pub item_id: Option<String>,
}

/// Parameters of `thread/realtime/appendAudio`.
#[wire(params)]
pub struct ThreadRealtimeAppendAudioParams {
    pub thread_id: String,
    pub audio: ThreadRealtimeAudioChunk,
}

/// Parameters of `thread/realtime/appendText`.
#[wire(params, default)]
pub struct ThreadRealtimeAppendTextParams {
    pub thread_id: String,
    pub text: String,
}

/// Parameters of `thread/realtime/stop`.
#[wire(params, default)]
pub struct ThreadRealtimeStopParams {
    pub thread_id: String,
}

/// Result of `thread/realtime/start`.
#[wire]
pub struct ThreadRealtimeStartResponse {}

/// Result of `thread/realtime/appendAudio`.
#[wire]
pub struct ThreadRealtimeAppendAudioResponse {}

/// Result of `thread/realtime/appendText`.
#[wire]
pub struct ThreadRealtimeAppendTextResponse {}

/// Result of `thread/realtime/stop`.
#[wire]
pub struct ThreadRealtimeStopResponse {}

/// The version of the provider's protocol.
#[wire(root)]
pub enum RealtimeConversationVersion {
    V1,
    V2,
}

/// Parameters of the notification `thread/realtime/started`.
#[wire]
pub struct ThreadRealtimeStartedNotification {
    pub thread_id: String,
    pub session_id: Option<String>,
    pub version: RealtimeConversationVersion,
}

/// Parameters of the notification `thread/realtime/itemAdded`.
#[wire]
pub struct ThreadRealtimeItemAddedNotification {
    pub thread_id: String,
    /// Something from the provider that has no notification of its own, as received.
    pub item: Json,
}

/// Parameters of the notification `thread/realtime/transcriptUpdated`.
#[wire]
pub struct ThreadRealtimeTranscriptUpdatedNotification {
    pub thread_id: String,
    /// Who speaks: `user` or `assistant`.
    pub role: String,
    /// What was said since the last one.
    pub text: String,
}

/// Parameters of the notification `thread/realtime/outputAudio/delta`.
#[wire]
pub struct ThreadRealtimeOutputAudioDeltaNotification {
    pub thread_id: String,
    pub audio: ThreadRealtimeAudioChunk,
}

/// Parameters of the notification `thread/realtime/error`.
#[wire]
pub struct ThreadRealtimeErrorNotification {
    pub thread_id: String,
    pub message: String,
}

/// Parameters of the notification `thread/realtime/closed`.
#[wire]
pub struct ThreadRealtimeClosedNotification {
    pub thread_id: String,
    /// `requested`, `transport_closed` or `error`.
    pub reason: Option<String>,
}
