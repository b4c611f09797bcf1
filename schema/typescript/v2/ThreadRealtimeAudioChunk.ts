// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A piece of sound.
 */
export type ThreadRealtimeAudioChunk = { 
/**
 * PCM samples, in base64.
 */
data: string, 
/**
 * Samples per second, usually 24000.
 */
sampleRate: number, numChannels: number, samplesPerChannel: number | null, 
/**
 * The provider's item that it is part of.
 */
itemId: string | null, };
