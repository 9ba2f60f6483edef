/// How long a job's steps would take if its ranks were alike: replays of what they did, with other durations.
@NullMarked
package io.dyber.zernel.analyze.whatif;

import org.jspecify.annotations.NullMarked;
