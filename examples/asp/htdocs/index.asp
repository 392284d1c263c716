<%
    my $error;
    $Session->{user} = undef if $Form->{leave};
    if (defined(my $user = $Form->{user})) {
        if ($user =~ /\A\w{2,20}\z/) {
            $Session->{user} = $user;
            $Response->Redirect('list.asp');
        }
        $error = 'A name has 2 to 20 letters or digits.';
    }
%>
<form method="post">
<label>Who are you? <input name="user" value="<%= html($Form->{user}) %>" autofocus></label>
<button>Log in</button>
</form>
<% if ($error) { %><p class="error"><%= $error %></p><% } %>
<p>Visits so far: <%= $Application->{visits} %></p>
