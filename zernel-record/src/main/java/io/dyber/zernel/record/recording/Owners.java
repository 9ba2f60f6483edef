package io.dyber.zernel.record.recording;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalLookupService;

/// The user and group that files are given to.
record Owners(UserPrincipal user, GroupPrincipal group) {
    /// By number: the lookup takes one for what no account is named like.
    static Owners of(RecordingFile.Owner owner) throws IOException {
        UserPrincipalLookupService accounts = FileSystems.getDefault().getUserPrincipalLookupService();
        return new Owners(
                accounts.lookupPrincipalByName(Integer.toString(owner.uid())),
                accounts.lookupPrincipalByGroupName(Integer.toString(owner.gid())));
    }

    static Owners of(PosixFileAttributes attributes) {
        return new Owners(attributes.owner(), attributes.group());
    }
}
