<%
    my $user = $Session->{user} or $Response->Redirect('index.asp');
    my $error;
    if ($Form->{delete}) {
        $Bookmarks->delete($user, $Form->{delete});
        $Response->Redirect('list.asp');
    }
    elsif (defined $Form->{url}) {
        $error = $Bookmarks->add($user, $Form->{url}, $Form->{title} // '');
        $Response->Redirect('list.asp') unless $error;
    }
    my @bookmarks = $Bookmarks->of($user);
%>
<form method="post">
<input name="url" placeholder="https://" size="30" value="<%= html($Form->{url}) %>">
<input name="title" placeholder="Title" value="<%= html($Form->{title}) %>">
<button>Add</button>
</form>
<% if ($error) { %><p class="error"><%= $error %></p><% } %>
<ul>
<% for my $bookmark (@bookmarks) { %>
<li><a href="<%= html($bookmark->{url}) %>"><%= html($bookmark->{title}) %></a>
<form method="post"><button name="delete" value="<%= $bookmark->{id} %>">Delete</button></form></li>
<% } %>
</ul>
<% unless (@bookmarks) { %><p>No bookmarks yet.</p><% } %>
